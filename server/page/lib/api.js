// Calls of the server's methods over HTTP. Bodies are protobuf JSON: 64-bit integers arrive as texts.

// What a method answered instead of its result. `code` is gRPC's name of the status; LOST means that no answer came.
export class CallError extends Error {
  constructor(code, message, violations = []) {
    super(message);
    this.code = code;
    this.violations = violations;
  }
}

export const isAbort = (error) => error?.name === 'AbortError';

const listeners = new Set();

// `listener` is told 'lost' when the server does not answer, 'found' when it does again, and 'login' when it wants one.
export function onConnection(listener) { listeners.add(listener); }

const tell = (what) => listeners.forEach((listener) => listener(what));

async function post(path, body, {signal, accept = 'application/json'} = {}) {
  let response;
  try {
    response = await fetch(path, {
      method: 'POST',
      signal,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: {'Content-Type': 'application/json', Accept: accept, ...headersOfKey()},
      body: JSON.stringify(body ?? {}),
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    tell('lost');
    throw new CallError('LOST', 'The server does not answer.');
  }
  tell('found');
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const code = said.code ?? (response.status === 401 ? 'UNAUTHENTICATED' : 'UNKNOWN');
  // In plain text nobody has a role: what is refused lacks the key.
  if (path !== '/login' && (code === 'UNAUTHENTICATED' || (code === 'PERMISSION_DENIED' && location.protocol === 'http:')))
    tell('login');
  throw new CallError(code, said.message || `the server answered with HTTP ${response.status}`, said.violations ?? []);
}

let key = null;

// Every call then carries the key of `meshwright ui`.
export function useKey(text) { key = text; }

const headersOfKey = () => (key ? {'X-Meshwright-Key': key} : {});

// Calls a method, such as 'Planner/Recommend'. A server that is busy is asked again for two seconds.
export async function call(method, body, {signal} = {}) {
  for (let wait = 60;; wait *= 2) {
    try {
      return await (await post(`/meshwright.v1.${method}`, body, {signal})).json();
    } catch (error) {
      if (error.code !== 'RESOURCE_EXHAUSTED' || wait > 1000) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
      signal?.throwIfAborted();
    }
  }
}

// The messages of a server-streaming method, until it ends. Aborting `signal` ends the call in the server too.
export async function* stream(method, body, {signal} = {}) {
  const response = await post(`/meshwright.v1.${method}`, body, {signal, accept: 'text/event-stream'});
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {value, done} = await reader.read().catch((error) => {
      if (isAbort(error)) throw error;
      throw new CallError('LOST', 'The connection to the server broke.');
    });
    if (done) throw new CallError('LOST', 'The connection to the server broke.');
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1] ?? 'message', data = /^data: (.*)$/m.exec(block)?.[1];
      if (!data) continue;
      if (event === 'message')
        yield JSON.parse(data);
      else if (event === 'status') {
        const status = JSON.parse(data);
        if (status.code === 'OK') return;
        throw new CallError(status.code, status.message, status.violations);
      }
    }
  }
}

// Runs one question at a time: the next one cancels the one before.
export class Latest {
  #controller = null;

  async run(work) {
    this.cancel();
    const controller = this.#controller = new AbortController();
    try {
      return await work(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  }

  cancel() { this.#controller?.abort(); }
}

// Who the caller is, as {name, role}. An error where a login or the key of `meshwright ui` is needed.
export const session = async () => (await post('/session')).json();
export const login = (token) => post('/login', {token});
export const logout = () => post('/logout');
