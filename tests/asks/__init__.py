"""What users of other servers complain of; each complaint has a test here that carries its name."""
