// Browsers start no worker from a page that is read from disk. There a frame takes its place, which
// has the part of a worker's face that the search uses: postMessage, and message events both ways.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...addresses) => Promise.all(addresses.map((each) => load(inside, each)));
      this.inside = inside;
      this.ready = load(inside, String(address));
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };

  function load(inside, address) {
    return new Promise((loaded, failed) => {
      const script = inside.document.createElement("script");
      script.src = address;
      script.onload = loaded;
      script.onerror = failed;
      inside.document.body.appendChild(script);
    });
  }
}
