"""Events and records of tasks: append-only, and durable before a reader sees them."""
