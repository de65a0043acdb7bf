"""Pure functions from the evaluation table to numbers. This room imports no other room."""
