"""The answers to a file: workbook, CSV, fix file, acknowledgement."""
