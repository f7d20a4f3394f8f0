# Permanent storage: the database and the bucket.

# Passwords are made once and stored in Secrets Manager only: `ephemeral` values and write-only
# arguments are in no plan and no state. Raising `secrets_version` makes new ones
# (docs/operations/rotating-secrets.md).
ephemeral "random_password" "database" {
  length  = 40
  special = false
}

ephemeral "random_password" "operator" {
  length  = 48
  special = false
}

resource "aws_secretsmanager_secret" "database" {
  name_prefix = "${var.name}-database-"
}

resource "aws_secretsmanager_secret_version" "database" {
  secret_id                = aws_secretsmanager_secret.database.id
  secret_string_wo         = ephemeral.random_password.database.result
  secret_string_wo_version = var.secrets_version
}

# The stored values, whichever values this run has generated.
ephemeral "aws_secretsmanager_secret_version" "database" {
  secret_id = aws_secretsmanager_secret_version.database.secret_id
}

resource "aws_db_subnet_group" "farm" {
  name_prefix = "${var.name}-"
  subnet_ids  = aws_subnet.private[*].id
}

resource "aws_db_instance" "farm" {
  identifier_prefix            = "${var.name}-"
  engine                       = "postgres"
  engine_version               = "17"
  instance_class               = var.database_instance_class
  allocated_storage            = var.database_storage_gb
  max_allocated_storage        = var.database_storage_gb * 4
  storage_type                 = "gp3"
  storage_encrypted            = true
  multi_az                     = true
  db_name                      = "cyclorama"
  username                     = "cyclorama"
  password_wo                  = ephemeral.aws_secretsmanager_secret_version.database.secret_string
  password_wo_version          = var.secrets_version
  db_subnet_group_name         = aws_db_subnet_group.farm.name
  vpc_security_group_ids       = [aws_security_group.database.id]
  publicly_accessible          = false
  backup_retention_period      = 14
  performance_insights_enabled = true
  deletion_protection          = true
  skip_final_snapshot          = false
  final_snapshot_identifier    = "${var.name}-final"
}

resource "aws_s3_bucket" "objects" {
  bucket_prefix = "${var.name}-objects-"
}

resource "aws_s3_bucket_public_access_block" "objects" {
  bucket                  = aws_s3_bucket.objects.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "objects" {
  bucket = aws_s3_bucket.objects.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

# Nobody may use the bucket without TLS, whatever another policy allows.
resource "aws_s3_bucket_policy" "objects" {
  bucket = aws_s3_bucket.objects.id
  policy = data.aws_iam_policy_document.objects.json

  depends_on = [aws_s3_bucket_public_access_block.objects]
}

data "aws_iam_policy_document" "objects" {
  statement {
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.objects.arn, "${aws_s3_bucket.objects.arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

# Objects are named by their content and never change, so older versions would only cost.
resource "aws_s3_bucket_versioning" "objects" {
  bucket = aws_s3_bucket.objects.id

  versioning_configuration {
    status = "Disabled"
  }
}

# Objects that a node uploaded and never reported. The service removes them by itself; this rule is
# for when it cannot.
resource "aws_s3_bucket_lifecycle_configuration" "objects" {
  bucket = aws_s3_bucket.objects.id

  rule {
    id     = "staging"
    status = "Enabled"

    filter {
      prefix = "farm/staging/"
    }

    expiration {
      days = 2
    }
  }
}

# Settings that are secret, as the file that `cyclorama --config` reads.
resource "aws_secretsmanager_secret" "control_plane" {
  name_prefix = "${var.name}-control-plane-"
}

# Written when `secrets_version` is raised, and not when only an address in it changes.
resource "aws_secretsmanager_secret_version" "control_plane" {
  secret_id                = aws_secretsmanager_secret.control_plane.id
  secret_string_wo_version = var.secrets_version

  # The certificates come with the machine (control_plane.sh.tftpl).
  secret_string_wo = <<-TOML
    database_url = "postgres://cyclorama:${ephemeral.aws_secretsmanager_secret_version.database.secret_string}@${aws_db_instance.farm.endpoint}/cyclorama?sslmode=verify-full&sslrootcert=/etc/cyclorama/database-ca.pem"
    operator_token = "${ephemeral.random_password.operator.result}"
  TOML
}
