import { defaulted, type Infer, string, type } from 'superstruct'
import { named, note, type Sent } from './structs.ts'

export const FleetViewRequest = named(
  'FleetViewRequest',
  'Body of `POST /api/me/views`. A view of the same name is replaced.',
  type({
    name: note('1 to 60 characters.', defaulted(string(), '')),
    query: note(
      "The query of the fleet page's address, at most 1,000 characters; empty for all of it.",
      defaulted(string(), ''),
    ),
  }),
)
export type FleetViewRequest = Sent<typeof FleetViewRequest>

export const FleetView = named(
  'FleetView',
  'A view of the fleet that the signed-in user saved.',
  type({ id: string(), name: string(), query: string() }),
)
export type FleetView = Infer<typeof FleetView>
