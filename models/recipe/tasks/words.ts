// Values that fill the items of the tasks, by split: no word is in two of the three.
import type { Split } from './item.ts'

export interface Words {
  readonly things: readonly string[]
  readonly cities: readonly string[]
  readonly people: readonly string[]
}

const train: Words = {
  things: words(
    'lamp chair phone kettle book desk clock radio camera printer basket bicycle pillow mirror blanket hammer guitar tablet heater bottle anchor apron armchair bandage banner barrel bathtub beaker bench bowl bracelet brick broom brush bucket buckle cabinet calendar canoe canvas cap carton chain chisel coat comb compass cork cradle crayon cup curtain cushion dish doll dresser drill easel envelope eraser fan faucet feather fence flag flute fork frame freezer funnel globe glove goggles harp hat hinge hook hose iron jar jug keyboard kite knife ladle lantern lens lid locket magnet map marble mattress medal mitten mop mug napkin needle notebook oar oven paddle pan parasol pen piano plate plow pump quilt rack rake razor ribbon ring rope rug saddle sandal saw scale scooter screw shelf skirt sled slipper sponge spoon stamp stool stove suitcase sweater sword tent thimble toaster tray trumpet tub vase vest wagon watch whistle wrench zipper',
  ),
  cities: words(
    'Lisbon Vienna Oslo Madrid Kyoto Boston Cairo Lima Perth Quito Dublin Turin Porto Ghent Bergen Leeds Paris Berlin Rome London Chicago Dallas Houston Toronto Sydney Delhi Mumbai Nairobi Accra Tunis Rabat Havana Bogota Santiago Caracas Montreal Ottawa Austin Phoenix Seattle Portland Miami Atlanta Detroit Cleveland Glasgow Belfast Munich Dresden Leipzig Cologne Zurich Basel Lyon Nantes Lille Seville Valencia Krakow Warsaw Vilnius Riga Tallinn Helsinki Bucharest Sofia Belgrade Zagreb Ankara Tehran Baghdad Karachi Dhaka Bangkok Manila Jakarta Osaka Nagoya Busan Taipei',
  ),
  people: words(
    'Marta Jones Peter Klein Alice Brown Omar Haddad Julie Petit Henry Ford Lucia Conti Viktor Orlov Sandra Holm Brian Walker Adam Beth Carl Diana Edgar Fiona George Hanna Ivan Jane Kevin Laura Mark Nora Oscar Paula Quentin Rachel Samuel Teresa Ulrich Vera Walter Yvonne Amir Bianca Carlos Dora Elena Frank Gloria Hugo Ines Jakob Karen Leon Monica Nils Olga Pedro Ruth Stefan Tina',
  ),
}
const validation: Words = {
  things: words('candle drum ladder wallet scarf teapot shovel violin helmet carpet rocket sofa ticket puzzle jacket'),
  cities: words('Hamburg Seoul Prague Naples Lagos Denver Athens Bristol Geneva Tokyo Malmo Cardiff'),
  people: words('Nadia Simon Greta Paul Irene Felix Rosa Bernard Helen Tomas'),
}
const test: Words = {
  things: words('umbrella pencil pot table cello rifle boat bed computer towel shirt kayak statue doorbell backpack'),
  cities: words('Bremen Milan Marseille Stockholm Copenhagen Brussels Moscow Shanghai Singapore Memphis Halifax Cork'),
  people: words('Anton Clara Daniel Emma Gustav Ingrid Louis Maria Robert Sophie'),
}

export const wordsOf: Readonly<Record<Split, Words>> = { train, validation, test, reworded: test }
export const monthNames = words('January February March April May June July August September October November December')

function words(text: string): readonly string[] {
  return text.split(' ')
}
