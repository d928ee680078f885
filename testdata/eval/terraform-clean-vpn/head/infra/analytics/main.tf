variable "vpc_id" {
  type = string
}

variable "subnet_group" {
  type        = string
  description = "Private subnets."
}

variable "vpn_cidr" {
  type        = string
  description = "Where people of the VPN come from, such as 10.20.0.0/16."

  validation {
    condition     = can(cidrnetmask(var.vpn_cidr)) && !startswith(var.vpn_cidr, "0.")
    error_message = "Give the network of the VPN."
  }
}

variable "primary_arn" {
  type = string
}

resource "aws_security_group" "analytics" {
  name        = "analytics-db"
  description = "PostgreSQL of the analytics team"
  vpc_id      = var.vpc_id

  ingress {
    description = "PostgreSQL from the VPN"
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = [var.vpn_cidr]
  }

  egress {
    description = "anywhere"
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_db_instance" "analytics" {
  identifier             = "analytics"
  replicate_source_db    = var.primary_arn
  instance_class         = "db.r6g.large"
  storage_encrypted      = true
  publicly_accessible    = false
  db_subnet_group_name   = var.subnet_group
  vpc_security_group_ids = [aws_security_group.analytics.id]
  deletion_protection    = true
}
