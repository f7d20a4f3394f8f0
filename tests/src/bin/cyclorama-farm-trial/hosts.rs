//! Hosts of the trial: network namespaces on a bridge of this machine, each with a link that can be
//! cut or slowed down.

use anyhow::{Result, ensure};
use std::process::{Command, Stdio};

const BRIDGE: &str = "cyctrial0";
/// The address of clients and the balancer.
pub const THIS_MACHINE: &str = "10.213.77.1";

/// Every host and its address.
const HOSTS: [(&str, &str); 9] = [
    ("db", "10.213.77.2"),
    ("store", "10.213.77.3"),
    ("plane1", "10.213.77.11"),
    ("plane2", "10.213.77.12"),
    ("plane3", "10.213.77.13"),
    ("node1", "10.213.77.21"),
    ("node2", "10.213.77.22"),
    ("node3", "10.213.77.23"),
    ("node4", "10.213.77.24"),
];

pub fn address_of(host: &str) -> &'static str {
    HOSTS.iter().find(|(name, _)| *name == host).map_or(THIS_MACHINE, |(_, address)| address)
}

/// The network. It is removed when this is dropped.
pub struct Hosts(());

impl Hosts {
    pub fn make() -> Result<Hosts> {
        remove();
        run("ip", &["link", "add", BRIDGE, "type", "bridge"])?;
        let hosts = Hosts(());
        run("ip", &["addr", "add", &format!("{THIS_MACHINE}/24"), "dev", BRIDGE])?;
        run("ip", &["link", "set", BRIDGE, "up"])?;
        for (host, address) in HOSTS {
            let (space, link) = (space(host), link(host));
            run("ip", &["netns", "add", &space])?;
            run("ip", &["link", "add", &link, "type", "veth", "peer", "name", "eth0", "netns", &space])?;
            run("ip", &["link", "set", &link, "master", BRIDGE, "up"])?;
            let inside = |arguments: &[&str]| run("ip", &[&["-n", &space], arguments].concat());
            inside(&["link", "set", "lo", "up"])?;
            inside(&["addr", "add", &format!("{address}/24"), "dev", "eth0"])?;
            inside(&["link", "set", "eth0", "up"])?;
        }
        Ok(hosts)
    }

    /// Drops everything to and from the host; connections are not closed.
    pub fn cut(&self, host: &str) -> Result<()> {
        run("ip", &["link", "set", &link(host), "nomaster"])
    }

    pub fn join(&self, host: &str) -> Result<()> {
        run("ip", &["link", "set", &link(host), "master", BRIDGE])
    }

    /// Slows the link down: packets to the host must queue for up to two seconds, or are dropped.
    /// (This limits the rate, because not every kernel can delay packets.)
    pub fn slow(&self, host: &str, kilobits_per_second: u32) -> Result<()> {
        let rate = format!("{kilobits_per_second}kbit");
        run("tc", &["qdisc", "add", "dev", &link(host), "root", "tbf", "rate", &rate, "burst", "16kb", "latency", "2s"])
    }

    pub fn quick(&self, host: &str) -> Result<()> {
        run("tc", &["qdisc", "del", "dev", &link(host), "root"])
    }
}

/// Makes a command that runs `program` on the host.
pub fn on(host: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &space(host), program]).stdin(Stdio::null());
    command
}

fn space(host: &str) -> String {
    format!("cyctrial-{host}")
}

fn link(host: &str) -> String {
    format!("cyct-{host}")
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program).args(arguments).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {}: {said}", arguments.join(" "));
    Ok(())
}

/// Removes the network, also that of an earlier trial. Errors are ignored, because some of it may
/// not exist.
fn remove() {
    for (host, _) in HOSTS {
        let _ = run("ip", &["netns", "del", &space(host)]);
    }
    let _ = run("ip", &["link", "del", BRIDGE]);
}

impl Drop for Hosts {
    fn drop(&mut self) {
        remove();
    }
}
