"""What is said of an ASN as a whole: header, status, sums, and rows that never became one."""
