# Render nodes on machines with a GPU.

locals {
  has_nodes = var.node_token_secret_arn != ""
}

resource "aws_launch_template" "node" {
  name_prefix            = "${var.name}-node-"
  image_id               = var.node_ami
  instance_type          = var.node_instance_type
  vpc_security_group_ids = [aws_security_group.node.id]

  iam_instance_profile {
    arn = aws_iam_instance_profile.node.arn
  }

  # The container needs no role, because the machine fetches its token before the container starts.
  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  user_data = base64encode(templatefile("${path.module}/node.sh.tftpl", {
    region   = var.region
    image    = var.node_image
    secret   = var.node_token_secret_arn
    base_url = var.base_url
  }))
}

# The operator sets the number between the two bounds (desired_capacity), or a program that reads
# the queue's length in Prometheus: see docs/operations/nodes.md. Terraform leaves it alone once the
# group exists.
resource "aws_autoscaling_group" "node" {
  name_prefix         = "${var.name}-node-"
  vpc_zone_identifier = aws_subnet.private[*].id
  min_size            = local.has_nodes ? var.node_count_min : 0
  max_size            = local.has_nodes ? var.node_count_max : 0

  launch_template {
    id      = aws_launch_template.node.id
    version = aws_launch_template.node.latest_version
  }

  tag {
    key                 = "Name"
    value               = "${var.name}-node"
    propagate_at_launch = true
  }

  lifecycle {
    ignore_changes = [desired_capacity]
  }
}

# Before a machine is removed, its node finishes its jobs. (Unfinished jobs go back to the queue by
# themselves.)
resource "aws_autoscaling_lifecycle_hook" "node_finishes" {
  name                   = "finish"
  autoscaling_group_name = aws_autoscaling_group.node.name
  lifecycle_transition   = "autoscaling:EC2_INSTANCE_TERMINATING"
  heartbeat_timeout      = 180
  default_result         = "CONTINUE"
}
