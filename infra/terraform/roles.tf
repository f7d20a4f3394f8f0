# Permissions of machines. A control plane may access the objects of the farm and its own secret, a
# node only its token. A node uploads images by presigned URLs of the control plane, so it has no
# access to the bucket.

data "aws_iam_policy_document" "machines" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "control_plane" {
  # A HEAD of an object is allowed by GetObject.
  statement {
    actions   = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]
    resources = ["${aws_s3_bucket.objects.arn}/farm/*"]
  }

  # Without it S3 answers 403 for a missing object, which could not be told from a forbidden one.
  statement {
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.objects.arn]

    condition {
      test     = "StringLike"
      variable = "s3:prefix"
      values   = ["farm/*"]
    }
  }

  statement {
    actions   = ["secretsmanager:GetSecretValue"]
    resources = [aws_secretsmanager_secret.control_plane.arn]
  }
}

resource "aws_iam_role" "control_plane" {
  name_prefix        = "${var.name}-control-plane-"
  assume_role_policy = data.aws_iam_policy_document.machines.json
}

resource "aws_iam_role_policy" "control_plane" {
  role   = aws_iam_role.control_plane.id
  policy = data.aws_iam_policy_document.control_plane.json
}

resource "aws_iam_instance_profile" "control_plane" {
  name_prefix = "${var.name}-control-plane-"
  role        = aws_iam_role.control_plane.name
}

data "aws_iam_policy_document" "node" {
  count = var.node_token_secret_arn == "" ? 0 : 1

  statement {
    actions   = ["secretsmanager:GetSecretValue"]
    resources = [var.node_token_secret_arn]
  }
}

resource "aws_iam_role" "node" {
  name_prefix        = "${var.name}-node-"
  assume_role_policy = data.aws_iam_policy_document.machines.json
}

resource "aws_iam_role_policy" "node" {
  count  = var.node_token_secret_arn == "" ? 0 : 1
  role   = aws_iam_role.node.id
  policy = data.aws_iam_policy_document.node[0].json
}

resource "aws_iam_instance_profile" "node" {
  name_prefix = "${var.name}-node-"
  role        = aws_iam_role.node.name
}
