# Two zones: public subnets hold the load balancer and the NAT gateway, private ones everything
# else.

data "aws_availability_zones" "here" {
  state = "available"
}

locals {
  zones = slice(data.aws_availability_zones.here.names, 0, 2)
}

resource "aws_vpc" "farm" {
  cidr_block           = var.vpc_cidr
  enable_dns_hostnames = true
  tags                 = { Name = var.name }
}

resource "aws_subnet" "public" {
  count             = 2
  vpc_id            = aws_vpc.farm.id
  availability_zone = local.zones[count.index]
  cidr_block        = cidrsubnet(var.vpc_cidr, 4, count.index)
  tags              = { Name = "${var.name}-public-${count.index}" }
}

resource "aws_subnet" "private" {
  count             = 2
  vpc_id            = aws_vpc.farm.id
  availability_zone = local.zones[count.index]
  cidr_block        = cidrsubnet(var.vpc_cidr, 4, count.index + 2)
  tags              = { Name = "${var.name}-private-${count.index}" }
}

resource "aws_internet_gateway" "farm" {
  vpc_id = aws_vpc.farm.id
}

resource "aws_eip" "out" {
  domain = "vpc"
}

# A single NAT gateway, for container images and payments. Its loss stops no image, because images
# go to the bucket by a separate endpoint.
resource "aws_nat_gateway" "farm" {
  allocation_id = aws_eip.out.id
  subnet_id     = aws_subnet.public[0].id
  depends_on    = [aws_internet_gateway.farm]
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.farm.id

  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.farm.id
  }
}

resource "aws_route_table" "private" {
  vpc_id = aws_vpc.farm.id

  route {
    cidr_block     = "0.0.0.0/0"
    nat_gateway_id = aws_nat_gateway.farm.id
  }
}

resource "aws_route_table_association" "public" {
  count          = 2
  subnet_id      = aws_subnet.public[count.index].id
  route_table_id = aws_route_table.public.id
}

resource "aws_route_table_association" "private" {
  count          = 2
  subnet_id      = aws_subnet.private[count.index].id
  route_table_id = aws_route_table.private.id
}

resource "aws_vpc_endpoint" "bucket" {
  vpc_id          = aws_vpc.farm.id
  service_name    = "com.amazonaws.${var.region}.s3"
  route_table_ids = [aws_route_table.private.id]
}
