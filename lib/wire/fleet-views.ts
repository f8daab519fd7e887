import { boolean, defaulted, type Infer, optional, string, type } from 'superstruct'
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
    shared: note('Whether everybody sees it; needs `config:create`.', defaulted(boolean(), false)),
  }),
)
export type FleetViewRequest = Sent<typeof FleetViewRequest>

export const FleetView = named(
  'FleetView',
  'A view of the fleet that the signed-in user saved, or that somebody shares with everybody.',
  type({
    id: string(),
    name: string(),
    query: string(),
    shared: boolean(),
    shared_by: note("The email of who shares it; absent for views of one's own.", optional(string())),
  }),
)
export type FleetView = Infer<typeof FleetView>
