"""Property tests: small worlds in full, and random ones, compared with the reference matcher."""
