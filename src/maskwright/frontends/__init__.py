"""Front-ends: each turns one source language into IR and knows no automata."""
