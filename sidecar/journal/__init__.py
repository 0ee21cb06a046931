"""What happened, append-only, durable before anybody sees it."""
