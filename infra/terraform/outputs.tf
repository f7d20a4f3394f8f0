output "load_balancer_name" {
  description = "Where the name of base_url has to lead (a CNAME or an alias)."
  value       = aws_lb.farm.dns_name
}

output "bucket" {
  description = "Where images are stored."
  value       = aws_s3_bucket.objects.id
}

output "database_address" {
  description = "Where PostgreSQL answers, inside of the network."
  value       = aws_db_instance.farm.address
}

output "control_plane_secret_arn" {
  description = "The secret with the database's address and the operator token."
  value       = aws_secretsmanager_secret.control_plane.arn
}

output "node_group_name" {
  description = "The group whose desired capacity is the number of render nodes."
  value       = aws_autoscaling_group.node.name
}
