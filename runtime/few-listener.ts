import { NO_BODY } from './body-room.ts'
import { fewConnections } from './descriptor-room.ts'
import type { Listener, ListenerHandlers } from './listener.ts'
import { listen } from './uws.ts'

/** What answers requests at a listener. */
export type Handle = ListenerHandlers['handle']

/** Listen on an address that only few have to reach, for requests without a body. Throws when it cannot. */
export const listenForFew = (address: string, handle: Handle): Listener =>
  listen(address, {
    sockets: [],
    room: null,
    connections: fewConnections(),
    bodyLimit: () => NO_BODY,
    bodyRoom: null,
    handle,
  })
