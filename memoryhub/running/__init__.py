"""What `memoryhub up` needs to run on one machine: database, data directory, processes."""
