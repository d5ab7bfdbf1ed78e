// Shares the event streams of sweeps among the tabs of a browser, which may have only six connections to a server.
// A tab says {watch, after, key} or {stop}; it is told {events}, {ended} or {error}.
import {isAbort, stream, useKey} from './api.js';

const streams = new Map();  // by sweep: {controller, ports, events, from}

onconnect = ({ports: [port]}) => {
  let watched = null;
  const leave = () => {
    const shared = streams.get(watched);
    shared?.ports.delete(port);
    if (shared?.ports.size === 0) {
      shared.controller.abort();
      streams.delete(watched);
    }
    watched = null;
  };
  port.onmessage = ({data}) => {
    leave();
    if (!data.watch) return;
    if (data.key) useKey(data.key);
    watched = data.watch;
    join(watched, Number(data.after), port);
  };
};

function join(sweep, after, port) {
  const shared = streams.get(sweep);
  if (shared && shared.from <= after) {
    shared.ports.add(port);
    port.postMessage({events: shared.events.filter((event) => Number(event.sequence) > after)});
    if (shared.ended) port.postMessage(shared.ended);
    return;
  }
  shared?.controller.abort();
  const next =
    {controller: new AbortController(), ports: new Set([port, ...(shared?.ports ?? [])]), events: [], from: after};
  streams.set(sweep, next);
  follow(sweep, next);
}

// Reads the stream to its end, and goes on where it broke.
async function follow(sweep, shared) {
  const tell = (message) => shared.ports.forEach((port) => port.postMessage(message));
  for (;;) {
    try {
      const after = shared.events.at(-1)?.sequence ?? shared.from;
      for await (const event of stream(
        'Sweeps/WatchSweep', {name: sweep, after_sequence: after}, {signal: shared.controller.signal})) {
        if (Number(event.sequence)) shared.events.push(event);
        tell({events: [event]});
      }
      shared.ended = {ended: true};
    } catch (error) {
      if (isAbort(error) || shared.controller.signal.aborted) return;
      if (error.code === 'LOST' || error.code === 'UNAVAILABLE') {
        tell({lost: true});
        await new Promise((resolve) => setTimeout(resolve, 2000));
        continue;
      }
      shared.ended = {error: error.message, code: error.code};
    }
    return tell(shared.ended);
  }
}
