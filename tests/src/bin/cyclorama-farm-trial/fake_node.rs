//! A node without an engine, as a program: each render is a pause and flat images. It writes each
//! finished render into a journal before it reports it.

use anyhow::Result;
use cyclorama_core::wire::{Job, JobKind, JobProgress};
use cyclorama_tests::fake_node::NodeClient;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const SLOTS: u32 = 4;
const HEARTBEAT: Duration = Duration::from_secs(1);
const RENDER: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(500);

type Held = Arc<Mutex<Vec<JobProgress>>>;

pub async fn serve(url: &str, token: &str, name: &str, journal: &str) -> Result<()> {
    let journal = Arc::new(Mutex::new(std::fs::File::options().create(true).append(true).open(journal)?));
    loop {
        let Ok(client) = NodeClient::join_at(url, token, name, SLOTS).await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let held = Held::default();
        let workers = (0..SLOTS).map(|_| tokio::spawn(work(client.clone(), held.clone(), journal.clone())));
        let workers: Vec<_> = workers.collect();
        // Joins again if the service has forgotten the node or is unreachable for long.
        let mut failures = 0;
        while failures < 20 {
            let jobs = held.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let beat = tokio::time::timeout(Duration::from_secs(3), client.heartbeat(jobs)).await;
            failures = match beat {
                Ok(Ok(_)) => 0,
                Ok(Err(error)) if error.to_string().contains("404") => 20,
                _ => failures + 1,
            };
            tokio::time::sleep(HEARTBEAT).await;
        }
        workers.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

async fn work(client: NodeClient, held: Held, journal: Arc<Mutex<std::fs::File>>) {
    loop {
        let Ok(jobs) = client.lease(10).await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        for job in jobs {
            let progress =
                JobProgress { job_id: job.job_id.clone(), fence: job.fence, stage: "fake".into(), progress: 0.5 };
            held.lock().unwrap_or_else(PoisonError::into_inner).push(progress);
            deliver(&client, &job, &journal).await;
            held.lock().unwrap_or_else(PoisonError::into_inner).retain(|held| held.job_id != job.job_id);
        }
    }
}

async fn deliver(client: &NodeClient, job: &Job, journal: &Mutex<std::fs::File>) {
    tokio::time::sleep(RENDER).await;
    if job.kind == JobKind::Render {
        let line = format!("{} {} {} {}\n", job.vehicle.key(), job.view, job.job_id, job.fence);
        let _ = journal.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
    // As a real node does, uploads and the result are repeated until another node must have the
    // job.
    for _ in 0..8 {
        if let Ok(objects) = client.upload(job).await
            && let Ok(status) = client.result(job, objects).await
            && status < 500
            && status != 422
        {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
