"""One real language model on this machine, small and slow: `make local-model` fetches it and runs these."""
