"""Documents made of compiled rows: their bodies, changes of orders, and the contract they must keep."""
