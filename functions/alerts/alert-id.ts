import { string, type } from 'superstruct'

export const alertParams = type({ id: string() })

/** Whether a text can be an alert's id; nothing else is asked of the database. */
export const isAlertId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id)
