"""Several processes that run and serve the same tasks: workers, their leader, and the event bus."""
