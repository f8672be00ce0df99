"""Spreadsheets on SFTP in, logistics API calls out, an answer for every row back."""

__version__ = "0.1.0"
