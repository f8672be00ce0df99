"""What belongs together: notices of two legs, receipts and their notice, lines that agree in every respect."""
