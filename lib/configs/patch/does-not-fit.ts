/** Says, from any depth of this room, that a config is not one that a patch is meant for. */
export class DoesNotFit extends Error {
  override readonly name = 'DoesNotFit'
}
