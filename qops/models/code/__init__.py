"""The C of operators: what families of both formats share."""
