"""Where files lie: an SFTP server, or a folder of this machine."""
