// What people ask of an assistant with 17 tools: phrases for each, and what fills their slots. `(a|b)` is a choice, `{place}` a slot.
// Phrases and fillings come in three parts, and those of `val` and `test` stand in no other part. Many tools come in pairs that
// share their words and differ in the order, or in who does what to whom: counting words is not enough.
/** @typedef {'train' | 'val' | 'test'} Part */
/** @typedef {Record<string, Record<Part, string[]>>} Parts */

const list = (/** @type {string} */ text) => text.split(', ')

/** @type {Parts} */
export const slots = {
  place: {
    train: list(
      'Paris, Berlin, London, Madrid, Rome, Vienna, Boston, Chicago, Dublin, Oslo, Athens, Cairo, Prague, Lisbon, Denver, Seattle, Moscow, Brussels, Warsaw, Zurich, Miami, Sydney, Delhi, Tokyo, Venice, Florence, Cologne, Houston',
    ),
    val: list('Munich, Milan, Glasgow, Dallas, Naples, Helsinki'),
    test: list('Geneva, Hamburg, Toronto, Kyoto, Bristol, Phoenix'),
  },
  person: {
    train: list(
      'Anna, Peter, Maria, John, Lucy, Tom, Sarah, David, Emma, Paul, Nina, Mark, Julia, Robert, Helen, George, my brother, my sister, the boss, our neighbour, Sam, Eva, Jack, Mary, James, Susan, my wife, the landlord',
    ),
    val: list('Alice, Henry, Laura, Simon, Grace, my uncle'),
    test: list('Frank, Clara, Oscar, Martha, Edward, my cousin'),
  },
  song: {
    train: list(
      'some jazz, old rock songs, piano music, the blue album, a slow song, the new single, some opera, country music, my morning list, the band from Dublin, something loud, a love song, drum music, the radio, folk songs, a waltz',
    ),
    val: list('a violin concert, dance music, the summer list, a happy song'),
    test: list('guitar music, the evening list, a Mozart opera, something quiet'),
  },
  chore: {
    train: list(
      'water the plants, pay the rent, call the plumber, buy milk, take the pills, feed the cat, lock the door, book a table, fix the lamp, send the letter, clean the floor, buy bread, pack the bag, meet the teacher, wash the dishes, order paper, walk the dog, check the oven',
    ),
    val: list('wash the car, renew the passport, clean the windows, buy flowers'),
    test: list('charge the bike, return the books, empty the bins, call the bank'),
  },
  file: {
    train: list(
      'the holiday photos, the tax report, my thesis, the budget table, the contract, the slides, my letters, the old videos, the music folder, the house plan, the letter to the bank, the team photo, my notes, the address book, the invoice, the big film, the drawings, the log file',
    ),
    val: list('the floor plan, the wedding film, the price list, my homework'),
    test: list('the travel notes, the family tree, the server logs, the final draft'),
  },
  here: {
    train: list('my laptop, the disk, this phone, my computer, here, the tablet'),
    val: list('the desktop, my phone, this laptop'),
    test: list('this computer, my tablet, the hard disk'),
  },
  room: {
    train: list(
      'kitchen, bedroom, hall, office, garage, bathroom, garden, basement, dining room, living room, corridor, guest room',
    ),
    val: list('attic, nursery, cellar, shop'),
    test: list('library, workshop, pantry, study'),
  },
  topic: {
    train: list(
      'the election, football, the stock market, space flight, the strike, new films, the war, oil prices, the storm, the new law, the royal family, banks, the train crash, science, the budget, fashion',
    ),
    val: list('the flood, tennis, the peace talks, schools'),
    test: list('the trade deal, cycling, the wildfire, the court case'),
  },
  saying: {
    train: list(
      'good morning, where is the station, thank you very much, how much is it, the bill please, one ticket please, I do not know, good night, my name is Tom, it is cold, we are lost, two coffees, open the window, the soup is good',
    ),
    val: list('see you soon, I am hungry, what time is it, a glass of water'),
    test: list('happy birthday, I lost my bag, nice to meet you, the train is late'),
  },
  amount: {
    train: list(
      '20 dollars, 15 euros, 100 dollars, 8 pounds, 45 euros, 60 dollars, 5 euros, 200 pounds, 35 dollars, 70 euros, 11 pounds, 500 euros',
    ),
    val: list('30 pounds, 75 dollars, 12 euros'),
    test: list('25 euros, 90 dollars, 18 pounds'),
  },
  reason: {
    train: list('for the dinner, for the tickets, for the taxi, for the rent, for lunch, for the present'),
    val: list('for the hotel, for the pizza'),
    test: list('for the concert, for the repair'),
  },
  hour: {
    train: list(
      'noon, six, half past eight, nine in the evening, three, ten, five in the morning, one, quarter past two, four',
    ),
    val: list('seven, quarter to five, midnight'),
    test: list('eleven, half past four, two in the afternoon'),
  },
  span: {
    train: list(
      '5 minutes, 10 minutes, half an hour, 90 seconds, an hour, 20 minutes, 3 minutes, 50 seconds, four hours, 12 minutes, 35 minutes, a minute',
    ),
    val: list('15 minutes, 45 seconds, two hours'),
    test: list('25 minutes, three hours, 40 seconds'),
  },
  when: {
    train: list('today, tomorrow, this week, tonight, on Monday, now, this evening'),
    val: list('on Friday, this weekend'),
    test: list('on Sunday, this afternoon'),
  },
}

/** Said before a request.
 * @type {Record<Part, string[]>} */
export const openings = {
  train: ['', '', '', 'Please: ', 'Hello. ', 'Hey, ', 'Listen: ', 'Good day. ', 'One more thing: ', 'Quick, '],
  val: ['', '', 'Hi there. ', 'Okay: '],
  test: ['', '', 'Good evening. ', 'So, '],
}

/** @type {Parts} */
export const tools = {
  'weather.forecast': {
    train: [
      '(what is|how is|show me) the weather (in|for) {place} {when}',
      '(will it|is it going to) (rain|snow|be warm|be cold|be windy) in {place} {when}',
      'how (warm|cold|windy|wet) is it in {place} {when}',
      'do I need (an umbrella|a coat|sun glasses) in {place} {when}',
      '(tell me|give me|I want) the forecast for {place}',
      'is it (raining|snowing|hot|sunny) in {place}',
      'weather {place} {when}',
      'what will the (rain|sun|wind|weather) do in {place} {when}',
    ],
    val: [
      'is there (sun|rain|snow) in {place} {when}',
      'will {place} have (rain|sun) {when}',
      'the forecast {place} {when}',
    ],
    test: [
      'any (rain|snow) in {place} {when}',
      'is it (warm|cold) in {place} {when}',
      'give me the weather of {place}',
    ],
  },
  'maps.route': {
    train: [
      'how do I (get|come|walk|drive) to {place}',
      '(show|tell) me the way to {place}',
      'which (road|train|street) (leads|goes) to {place}',
      'how far is it (to|from here to) {place}',
      '(directions|the route|the way) to {place}',
      'I (want|have|need) to (drive|go|travel) to {place}',
      'what is the (fastest|shortest|best) (route|road) to {place}',
      '(guide|lead|bring) me to {place}',
    ],
    val: [
      'what is the (best|fastest) way to {place}',
      'I need directions to {place}',
      'how long is the (drive|road) to {place}',
    ],
    test: [
      'find (the|a) (route|road) to {place}',
      'which way (goes|leads) to {place}',
      'how do I go from here to {place}',
    ],
  },
  'money.send': {
    train: [
      '(send|pay|transfer|give) {amount} to {person} {reason}',
      '(pay|send|give|transfer) {person} {amount} {reason}',
      'I owe {person} {amount} {reason}',
      'I (want|have|need) to pay {person} {amount}',
      'I pay {person} {amount} {reason}',
      'let {person} have {amount} from (me|my account)',
      '{person} gets {amount} from me {reason}',
      '{amount} from me to {person}',
      'I (would like|promised) to give {person} {amount}',
      'from me (to|for) {person} {amount} {reason}',
    ],
    val: [
      '(send|transfer) to {person} {amount}',
      'I have to give {person} {amount} {reason}',
      '{person} gets {amount} from my account',
    ],
    test: [
      'pay to {person} {amount} {reason}',
      'I want to send {person} {amount}',
      '{amount} from my account to {person}',
    ],
  },
  'money.request': {
    train: [
      '(ask|request|get|collect) {amount} from {person} {reason}',
      'ask {person} for {amount} {reason}',
      '{person} owes me {amount} {reason}',
      '{person} (wants|has|needs) to pay me {amount}',
      '{person} pays me {amount} {reason}',
      'let me have {amount} from {person}',
      'I get {amount} from {person} {reason}',
      '{amount} from {person} to me',
      'I (need|would like) {amount} (|back )from {person}',
      'from {person} (I get|to me) {amount} {reason}',
    ],
    val: [
      'request from {person} {amount}',
      '{person} has to give me {amount} {reason}',
      'I want {amount} from {person}',
    ],
    test: [
      'get from {person} {amount} {reason}',
      'ask {person} to send me {amount}',
      '{amount} from {person} to my account',
    ],
  },
  'mail.send': {
    train: [
      '(write|mail|answer) {person} that I am (late|busy|ill|there)',
      '(send|write) {person} a (mail|message|note) about {file}',
      'tell {person} (about {file}|that I come at {hour}|that I agree)',
      'let {person} know (about {file}|that I am at home)',
      'send a (mail|message|note) to {person}',
      '(write|send) to {person} what I think about {file}',
      'a (message|mail) to {person}: I come at {hour}',
      'I want to (write|mail) {person} about {topic}',
      '(write|prepare) the (mail|note) (that {person} wants|{person} waits for)',
      'I (have to|would like to) write {person} a (mail|message)',
    ],
    val: ['write to {person} about {file}', 'tell {person} that I am late', 'a (mail|note) to {person} about {topic}'],
    test: [
      'write a (message|mail) to {person} about {file}',
      'mail {person} that I come at {hour}',
      'I want to send {person} a note',
    ],
  },
  'mail.search': {
    train: [
      'what did {person} (write|send|answer) (me|to me|about {file})',
      '(show|read|find) me the (mail|message|note) from {person}',
      'did {person} (write|answer|mail) (me|about {file})',
      'find the (mail|message|note) of {person} about {file}',
      'is there a (mail|message|note) from {person}',
      'read what {person} (sent|wrote) me',
      'look for (mails|messages) from {person} about {topic}',
      'has {person} (written|answered|sent) (me|something)',
      '(read|find|open) the (mail|note) (that {person} wrote|{person} sent {when})',
      'I (want|would like) to read what {person} wrote',
    ],
    val: [
      'show the (mail|message) that {person} sent',
      'did {person} send me {file}',
      'any (mail|message) from {person} about {topic}',
    ],
    test: [
      'find the (messages|mails) {person} sent me',
      'what did {person} write about {topic}',
      'is there an answer from {person} about {file}',
    ],
  },
  'reminder.create': {
    train: [
      'remind me (|at {hour} )to {chore}',
      'do not (let me )forget to {chore}',
      'at {hour} I (have to|must) {chore}, remind me',
      '(make|set|add) a reminder to {chore} at {hour}',
      'I (must|have to) {chore} {when}, tell me then',
      'remember that I (have to|must) {chore}',
      'a reminder {when}: {chore}',
      'I want to be reminded to {chore}',
    ],
    val: ['remind me {when} to {chore}', 'set a reminder: {chore}', 'do not let me forget at {hour} to {chore}'],
    test: ['remind me that I have to {chore}', 'add a reminder {when} to {chore}', 'I must not forget to {chore}'],
  },
  'reminder.cancel': {
    train: [
      'do not remind me (|at {hour} )to {chore}',
      '(forget|drop|cancel|delete) the reminder to {chore}',
      'at {hour} I do not have to {chore}, no reminder',
      '(take|throw) away the reminder to {chore} at {hour}',
      'I (did|do not have to) {chore} {when}, do not remind me',
      'stop (reminding me|the reminder) to {chore}',
      'no reminder {when}: {chore}',
      'I do not want to be reminded to {chore}',
    ],
    val: ['do not remind me {when} to {chore}', 'cancel the reminder: {chore}', 'no reminder at {hour} to {chore}'],
    test: [
      'do not remind me that I have to {chore}',
      'drop the reminder {when} to {chore}',
      'no need to remind me to {chore}',
    ],
  },
  'files.upload': {
    train: [
      '(copy|move|bring|save) {file} from {here} (to|into) the cloud',
      '(copy|move|bring|save) {file} (to|into) the cloud from {here}',
      '(put|store|keep) {file} (in|into) the cloud',
      'from {here} (to|into) the cloud: {file}',
      'the cloud (needs|should have) {file} from {here}',
      'upload {file} (|from {here})',
      '{file} (should|must) go from {here} (to|into) the cloud',
      'I have {file} on {here} and (want|need) it in the cloud',
      'to the cloud from {here}: {file}',
      '{file} (lies|is) on {here}, (copy|bring) it into the cloud',
    ],
    val: [
      'send {file} from {here} to the cloud',
      'into the cloud from {here}: {file}',
      'put {file} from {here} into the cloud',
    ],
    test: [
      'get {file} from {here} into the cloud',
      '{file}: from {here} to the cloud',
      '{file} is on {here}, I need it in the cloud',
    ],
  },
  'files.download': {
    train: [
      '(copy|move|bring|save) {file} from the cloud (to|onto) {here}',
      '(copy|move|bring|save) {file} (to|onto) {here} from the cloud',
      '(take|get|fetch) {file} (from|out of) the cloud',
      'from the cloud (to|onto) {here}: {file}',
      '{here} (needs|should have) {file} from the cloud',
      'download {file} (|to {here})',
      '{file} (should|must) go from the cloud (to|onto) {here}',
      'I have {file} in the cloud and (want|need) it on {here}',
      'to {here} from the cloud: {file}',
      '{file} (lies|is) in the cloud, (copy|bring) it to {here}',
    ],
    val: [
      'send {file} from the cloud to {here}',
      'onto {here} from the cloud: {file}',
      'put {file} from the cloud onto {here}',
    ],
    test: [
      'get {file} from the cloud onto {here}',
      '{file}: from the cloud to {here}',
      '{file} is in the cloud, I need it on {here}',
    ],
  },
  'translate.to_french': {
    train: [
      'how do (you|I) say "{saying}" in French',
      '(translate|put|turn) "{saying}" from German (to|into) French',
      '(translate|put|turn) "{saying}" (to|into) French from German',
      'from German (to|into) French: "{saying}"',
      'I have "{saying}" in German and (want|need) it in French',
      '(what is|give me) "{saying}" in French',
      '"{saying}" is German, (say|write) it in French',
      'the French (word|words) for the German "{saying}"',
      'to French from German: "{saying}"',
      'the German "{saying}" (should|must) be in French',
    ],
    val: [
      'write the German "{saying}" in French',
      'into French from German: "{saying}"',
      'what is the German "{saying}" in French',
    ],
    test: [
      '"{saying}" from German into French',
      'say the German "{saying}" in French',
      '"{saying}" is German, I need it in French',
    ],
  },
  'translate.to_german': {
    train: [
      'how do (you|I) say "{saying}" in German',
      '(translate|put|turn) "{saying}" from French (to|into) German',
      '(translate|put|turn) "{saying}" (to|into) German from French',
      'from French (to|into) German: "{saying}"',
      'I have "{saying}" in French and (want|need) it in German',
      '(what is|give me) "{saying}" in German',
      '"{saying}" is French, (say|write) it in German',
      'the German (word|words) for the French "{saying}"',
      'to German from French: "{saying}"',
      'the French "{saying}" (should|must) be in German',
    ],
    val: [
      'write the French "{saying}" in German',
      'into German from French: "{saying}"',
      'what is the French "{saying}" in German',
    ],
    test: [
      '"{saying}" from French into German',
      'say the French "{saying}" in German',
      '"{saying}" is French, I need it in German',
    ],
  },
  'lights.on': {
    train: [
      '(turn|switch) on the (light|lamp|lights) in the {room}',
      '(turn|switch) the (light|lamp|lights) in the {room} on',
      'it is (too|very) dark in the {room}',
      '(I want|I need|make|give me) light in the {room}',
      'the (lamp|light) in the {room} should be on, not off',
      'do not (leave|keep) the {room} dark',
      'the {room} (light|lamp) is off, turn it on',
      '{room}: lights on',
    ],
    val: ['switch the {room} (lamp|light) on', 'the {room} is too dark', 'lights on in the {room}'],
    test: [
      'turn the {room} (light|lights) on',
      'I want it not dark in the {room}',
      'the light in the {room} is off, I need it on',
    ],
  },
  'lights.off': {
    train: [
      '(turn|switch) off the (light|lamp|lights) in the {room}',
      '(turn|switch) the (light|lamp|lights) in the {room} off',
      'it is (too|very) bright in the {room}',
      '(I want|I need|make|have) no light in the {room}',
      'the (lamp|light) in the {room} should be off, not on',
      'do not (leave|keep) the {room} bright',
      'the {room} (light|lamp) is on, turn it off',
      '{room}: lights off',
    ],
    val: ['switch the {room} (lamp|light) off', 'the {room} is too bright', 'lights off in the {room}'],
    test: [
      'turn the {room} (light|lights) off',
      'I want it not bright in the {room}',
      'the light in the {room} is on, I need it off',
    ],
  },
  'music.play': {
    train: [
      '(play|start|put on) {song}',
      'I (want|would like) to (hear|listen to) {song}',
      '(play|start|put on) {song} in the {room}',
      'let me (hear|listen to) {song}',
      'can you play {song} in the {room}',
      '(some|a bit of) music in the {room}: {song}',
      'I (like|love) {song}, play it',
      'turn up {song}',
      '(I feel like|how about|time for) {song}',
      'let (me have|there be) {song} in the {room}',
    ],
    val: ['play me {song}', 'I would like {song} in the {room}', 'let us (hear|listen to) {song}'],
    test: ['can you put on {song}', 'I want {song} in the {room}', 'play a bit of {song}'],
  },
  'timer.start': {
    train: [
      '(set|start|make) a timer (for|of) {span}',
      '(wake|call) me in {span}',
      'count down {span}',
      'tell me when {span} are over',
      'timer {span}',
      '(ring|beep) in {span}',
      'I need a timer (for|of) {span}',
      '{span} from now, ring',
    ],
    val: ['set the timer to {span}', 'ring when {span} are over', 'a timer of {span}'],
    test: ['start the timer, {span}', 'beep when {span} are over', 'I want a timer for {span}'],
  },
  'news.search': {
    train: [
      'what is new (about|with) {topic}',
      '(read|show|tell) me the news (on|about) {topic}',
      '(any|some) news about {topic} {when}',
      'what happened with {topic} {when}',
      'the headlines (on|about) {topic}',
      'what do the papers (say|write) about {topic}',
      '(look up|find) the (news|latest) (on|about) {topic}',
      'I want to read (news|something new) about {topic}',
    ],
    val: ['what is the latest on {topic}', 'show the news on {topic}', 'is there news about {topic} {when}'],
    test: ['what is in the papers about {topic}', 'read me the headlines on {topic}', 'find news about {topic} {when}'],
  },
}
