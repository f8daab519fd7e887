import { string, type } from 'superstruct'

/** The path parameters of one alert. */
export const alertParams = type({ id: string() })

/** Whether a text can be an alert's id; the database is not asked for any other text. */
export const isAlertId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id)
