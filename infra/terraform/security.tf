# Allowed connections.

resource "aws_security_group" "load_balancer" {
  name_prefix = "${var.name}-load-balancer-"
  vpc_id      = aws_vpc.farm.id
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each          = toset(["80", "443"])
  security_group_id = aws_security_group.load_balancer.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = tonumber(each.key)
  to_port           = tonumber(each.key)
}

resource "aws_vpc_security_group_egress_rule" "load_balancer_to_control_plane" {
  security_group_id            = aws_security_group.load_balancer.id
  referenced_security_group_id = aws_security_group.control_plane.id
  ip_protocol                  = "tcp"
  from_port                    = 8080
  to_port                      = 8080
}

resource "aws_security_group" "control_plane" {
  name_prefix = "${var.name}-control-plane-"
  vpc_id      = aws_vpc.farm.id
}

resource "aws_vpc_security_group_ingress_rule" "control_plane_from_load_balancer" {
  security_group_id            = aws_security_group.control_plane.id
  referenced_security_group_id = aws_security_group.load_balancer.id
  ip_protocol                  = "tcp"
  from_port                    = 8080
  to_port                      = 8080
}

resource "aws_vpc_security_group_ingress_rule" "control_plane_from_operators" {
  for_each          = toset(var.operator_cidrs)
  security_group_id = aws_security_group.control_plane.id
  cidr_ipv4         = each.key
  ip_protocol       = "tcp"
  from_port         = 9090
  to_port           = 9090
}

resource "aws_vpc_security_group_egress_rule" "control_plane_out" {
  security_group_id = aws_security_group.control_plane.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

# A node opens no port; it only connects to others.
resource "aws_security_group" "node" {
  name_prefix = "${var.name}-node-"
  vpc_id      = aws_vpc.farm.id
}

# The public address, the bucket, and the sources of its image and its token: all by HTTPS.
resource "aws_vpc_security_group_egress_rule" "node_out" {
  security_group_id = aws_security_group.node.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_security_group" "database" {
  name_prefix = "${var.name}-database-"
  vpc_id      = aws_vpc.farm.id
}

resource "aws_vpc_security_group_ingress_rule" "database_from_control_plane" {
  security_group_id            = aws_security_group.database.id
  referenced_security_group_id = aws_security_group.control_plane.id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
}
