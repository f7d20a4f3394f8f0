variable "name" {
  description = "What the farm is called: a prefix of every name."
  type        = string
  default     = "cyclorama"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,20}$", var.name))
    error_message = "name must be 2 to 21 lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "region" {
  description = "The AWS region."
  type        = string
}

variable "base_url" {
  description = "What clients see in front of every path; its name must lead to the load balancer (output load_balancer_name)."
  type        = string

  validation {
    condition     = can(regex("^https://[^/]+$", var.base_url))
    error_message = "base_url must begin with https:// and have no path."
  }
}

variable "certificate_arn" {
  description = "The certificate of base_url's name in AWS Certificate Manager, in the same region."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:acm:", var.certificate_arn))
    error_message = "certificate_arn must be the ARN of a certificate (arn:aws:acm:...)."
  }
}

variable "vpc_cidr" {
  description = "Addresses of the farm's network; a /16 to /20."
  type        = string
  default     = "10.40.0.0/16"

  validation {
    condition     = can(cidrsubnet(var.vpc_cidr, 4, 3)) && try(tonumber(split("/", var.vpc_cidr)[1]), 0) >= 16 && try(tonumber(split("/", var.vpc_cidr)[1]), 99) <= 20
    error_message = "vpc_cidr must be an IPv4 network with a prefix of 16 to 20 bits."
  }
}

variable "operator_cidrs" {
  description = "Networks inside of or connected to the VPC that may reach the operator address (9090): operators and Prometheus. None by default."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for cidr in var.operator_cidrs : can(cidrhost(cidr, 0)) && cidr != "0.0.0.0/0"])
    error_message = "operator_cidrs must be networks, and never 0.0.0.0/0: the operator address is not for the public."
  }
}

variable "control_plane_image" {
  description = "Image of the control plane, by tag or digest."
  type        = string
}

variable "node_image" {
  description = "Image of the render node with CUDA, by tag or digest."
  type        = string
}

variable "control_plane_ami" {
  description = "A machine image with a container engine (docker) and the AWS command line, such as Amazon Linux 2023 for ECS."
  type        = string

  validation {
    condition     = can(regex("^ami-[0-9a-f]+$", var.control_plane_ami))
    error_message = "control_plane_ami must be the id of a machine image (ami-...)."
  }
}

variable "node_ami" {
  description = "The same with NVIDIA's driver and container toolkit, such as the ECS image for GPUs."
  type        = string

  validation {
    condition     = can(regex("^ami-[0-9a-f]+$", var.node_ami))
    error_message = "node_ami must be the id of a machine image (ami-...)."
  }
}

variable "control_plane_instance_type" {
  description = "Machines of the control plane."
  type        = string
  default     = "c7i.large"
}

variable "control_plane_count" {
  description = "How many control planes there are."
  type        = number
  default     = 2

  validation {
    condition     = var.control_plane_count >= 2 && var.control_plane_count <= 20
    error_message = "control_plane_count must be 2 to 20: one alone cannot be replaced without an interruption."
  }
}

variable "node_instance_type" {
  description = "Machines of render nodes. Each GPU of one is a node."
  type        = string
  default     = "g6.xlarge"
}

variable "node_count_min" {
  description = "Render nodes that are always there."
  type        = number
  default     = 1

  validation {
    condition     = var.node_count_min >= 0
    error_message = "node_count_min must not be negative."
  }
}

variable "node_count_max" {
  description = "The most render nodes; a bound of what the farm can cost beside the service's own daily budget."
  type        = number
  default     = 8

  validation {
    condition     = var.node_count_max >= var.node_count_min && var.node_count_max <= 200
    error_message = "node_count_max must be at least node_count_min, and at most 200."
  }
}

variable "node_token_secret_arn" {
  description = "A secret of Secrets Manager that holds the node token, of `cyclorama node-token create`. Empty at first: then no node machine is started."
  type        = string
  default     = ""
}

variable "database_instance_class" {
  description = "The machine of PostgreSQL."
  type        = string
  default     = "db.m7g.large"
}

variable "database_storage_gb" {
  description = "Storage of the database at first; it grows by itself to four times as much."
  type        = number
  default     = 100

  validation {
    condition     = var.database_storage_gb >= 20 && var.database_storage_gb <= 16000
    error_message = "database_storage_gb must be 20 to 16000."
  }
}

variable "secrets_version" {
  description = "Raised by one, it makes a new password of the database and a new operator token; machines read them when they start."
  type        = number
  default     = 1
}
