/**
 * The only import of uWebSockets.js. Its four rules hold in `request-head.ts`, `exchange.ts` and `body.ts`: a request is read
 * before its handler returns, chunks are copied, `onAborted` is always attached, later writes are corked.
 * It closes a connection whose next request comes before the last one was answered, and asks nobody; not reading meanwhile would hide
 * that the client has left.
 */

/** Bytes of a request's head. The library reads this once, when it is loaded; its own default of 4096 is less than a long key. */
export const HEAD_BYTES_MAX = 32_768;
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEAD_BYTES_MAX);
const uws = await import('uWebSockets.js');

export type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';

type TemplatedApp = import('uWebSockets.js').TemplatedApp;
type ListenSocket = import('uWebSockets.js').us_listen_socket;

export const App = uws.App;
export const closeListenSocket = uws.us_listen_socket_close;
export const localPort = uws.us_socket_local_port;

/** What the library's declarations leave out. Without the option the system would share a taken port between programs. */
interface Undeclared {
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}
interface Listener {
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): unknown;
}

export const listen = (app: TemplatedApp, host: string, port: number): Promise<ListenSocket | false> =>
  new Promise((resolve) => {
    const { LIBUS_LISTEN_EXCLUSIVE_PORT } = uws as unknown as Undeclared;
    (app as unknown as Listener).listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
