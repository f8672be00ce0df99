"""The whole nightly loop on embedded parts, for a first look: real SFTP, real HTTP, a real ledger, sample files."""
