"""What people hold: the receipt, the results, the fix file, the reconciliation workbook, the label bundle."""
