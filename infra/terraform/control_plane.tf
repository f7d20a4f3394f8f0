# Control planes behind a load balancer that terminates TLS.

resource "aws_lb" "farm" {
  name_prefix     = substr(var.name, 0, 6)
  subnets         = aws_subnet.public[*].id
  security_groups = [aws_security_group.load_balancer.id]
  # Cold renders take up to two minutes, and the service ends them after that.
  idle_timeout = 180
  # Programs interpret invalid HTTP differently, so it is not forwarded.
  drop_invalid_header_fields = true
}

resource "aws_lb_target_group" "control_plane" {
  name_prefix = substr(var.name, 0, 6)
  vpc_id      = aws_vpc.farm.id
  port        = 8080
  protocol    = "HTTP"
  # As long as a cold render, so that requests in flight end before the machine does.
  deregistration_delay = 150

  health_check {
    path                = "/readyz"
    interval            = 5
    timeout             = 3
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_listener" "https" {
  load_balancer_arn = aws_lb.farm.arn
  port              = 443
  protocol          = "HTTPS"
  ssl_policy        = "ELBSecurityPolicy-TLS13-1-2-2021-06"
  certificate_arn   = var.certificate_arn

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.control_plane.arn
  }
}

resource "aws_lb_listener" "http" {
  load_balancer_arn = aws_lb.farm.arn
  port              = 80
  protocol          = "HTTP"

  default_action {
    type = "redirect"

    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}

resource "aws_launch_template" "control_plane" {
  name_prefix   = "${var.name}-control-plane-"
  image_id      = var.control_plane_ami
  instance_type = var.control_plane_instance_type
  vpc_security_group_ids = [
    aws_security_group.control_plane.id,
  ]

  iam_instance_profile {
    arn = aws_iam_instance_profile.control_plane.arn
  }

  # Containers get the role through one hop more than the machine itself.
  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 2
  }

  user_data = base64encode(templatefile("${path.module}/control_plane.sh.tftpl", {
    region          = var.region
    image           = var.control_plane_image
    secret          = aws_secretsmanager_secret_version.control_plane.arn
    objects         = "s3://${aws_s3_bucket.objects.id}/farm?region=${var.region}"
    base_url        = var.base_url
    trusted_proxies = join(",", aws_subnet.public[*].cidr_block)
  }))
}

resource "aws_autoscaling_group" "control_plane" {
  name_prefix               = "${var.name}-control-plane-"
  vpc_zone_identifier       = aws_subnet.private[*].id
  target_group_arns         = [aws_lb_target_group.control_plane.arn]
  health_check_type         = "ELB"
  health_check_grace_period = 120
  desired_capacity          = var.control_plane_count
  min_size                  = var.control_plane_count
  max_size                  = var.control_plane_count * 2

  launch_template {
    id      = aws_launch_template.control_plane.id
    version = aws_launch_template.control_plane.latest_version
  }

  # A new version starts beside the old one, so that the full number always serves.
  instance_refresh {
    strategy = "Rolling"

    preferences {
      min_healthy_percentage = 100
      max_healthy_percentage = 150
    }
  }

  tag {
    key                 = "Name"
    value               = "${var.name}-control-plane"
    propagate_at_launch = true
  }
}
