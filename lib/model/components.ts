/** A component that a config uses. */
export interface UsedComponent {
  category: string
  type: string
  id: string
  path: string
}

/** Category → sorted type names, shared between all instances that report the same list. */
export interface ComponentList {
  hash: string
  components: ReadonlyMap<string, readonly string[]>
}

/** What a workload's instances can all run, as it is stored and shown. */
export interface AvailableComponents {
  readonly components: Readonly<Record<string, readonly string[]>>
  readonly hash: string
}
