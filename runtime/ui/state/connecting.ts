import { signal } from '@preact/signals'

/** Whether the dialog that tells how to connect a collector is open. */
export const isConnectOpen = signal(false)
