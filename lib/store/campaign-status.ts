import { statusesThat } from '../model/campaign-states.ts'

/** SQL for whether a status, given as SQL, is one of those of which this holds. */
export const isStatusThat = (status: string, trait: Parameters<typeof statusesThat>[0]): string =>
  `${status} in (${statusesThat(trait)
    .map((one) => `'${one}'`)
    .join(', ')})`
