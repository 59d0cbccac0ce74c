"""What joins generators and the validator: from functions of a repository to checked harnesses."""
