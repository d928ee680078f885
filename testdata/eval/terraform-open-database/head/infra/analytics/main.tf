variable "vpc_id" {
  type = string
}

variable "vpn_cidr" {
  type        = string
  description = "Where people of the VPN come from."
}

variable "primary_arn" {
  type = string
}

resource "aws_security_group" "analytics" {
  name        = "analytics-db"
  description = "PostgreSQL of the analytics team"
  vpc_id      = var.vpc_id

  ingress {
    description = "PostgreSQL"
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

  tags = {
    team = "analytics"
  }
}

resource "aws_db_instance" "analytics" {
  identifier              = "analytics"
  replicate_source_db     = var.primary_arn
  instance_class          = "db.r6g.large"
  storage_encrypted       = true
  publicly_accessible     = true
  vpc_security_group_ids  = [aws_security_group.analytics.id]
  backup_retention_period = 7
  deletion_protection     = true
  skip_final_snapshot     = false

  tags = {
    team = "analytics"
  }
}
