/** A code as the wire writes it, of one as this code does. */
export type Underscored<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}_${Underscored<Rest>}`
  : Text

/** The code as the wire writes it: with underscores for hyphens. */
export const underscored = <Text extends string>(text: Text): Underscored<Text> =>
  text.replaceAll('-', '_') as Underscored<Text>
