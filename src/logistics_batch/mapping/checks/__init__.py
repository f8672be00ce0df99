"""What is checked beside the fields' own rules; a broken check makes a row invalid or holds the file."""
