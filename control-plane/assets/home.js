// The home page works without this: it shows progress while the first pictures are made.
"use strict";

const POLL_MS = 1500;

function show(stage) {
  const data = stage.dataset;
  const image = new Image();
  image.alt = data.alt;
  image.sizes = data.sizes;
  image.width = image.height = 1024;
  image.onload = () => {
    stage.replaceChildren(image);
    stage.classList.remove("waiting");
    stage.classList.add("arrived");
  };
  image.srcset = data.srcset;
  image.src = data.src;
}

async function look() {
  const progress = document.getElementById("progress");
  try {
    const answer = await fetch("/api/examples", { headers: { accept: "application/json" } });
    const { ready, total, examples } = await answer.json();
    document.getElementById("count").textContent = `${ready} of ${total}`;
    document.getElementById("bar").value = ready;
    for (const example of examples) {
      const stage = document.querySelector(`.stage.waiting[data-example="${example.number}"]`);
      if (!stage) continue;
      if (example.ready && !stage.dataset.asked) {
        stage.dataset.asked = "yes";
        show(stage);
      }
    }
    if (ready === total) {
      progress.hidden = true;
      return;
    }
  } catch {
    // The service is starting or stopping; the next look may find it.
  }
  setTimeout(look, POLL_MS);
}

if (document.querySelector(".stage.waiting")) look();
