"""A review by rules: what is wrong with a change, or with a file, that can be seen without understanding it."""
