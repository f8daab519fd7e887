const ADDRESS_KEYS: ReadonlySet<string> = new Set(['endpoint', 'url', 'server', 'address', 'listen_address'])

/** Whether a component's setting of this name is an address that it listens on or sends to; in any case of letters. */
export const isAddressKey = (key: string): boolean => ADDRESS_KEYS.has(key.toLowerCase())
