import BridgeJSON
import BrowserBridge
import DBusTypes
import FocusContract
import Testing

/// What the extension tells of an element, and what is published of it.
@Suite struct MappingTests {
  static func element(_ text: String) throws -> PageElement? {
    PageElement(try #require(JSON(Array(text.utf8)), "\(text)"))
  }

  /// The values, as `Group.Member=value` in order.
  static func shown(_ element: PageElement) -> String {
    element.values.sorted { $0.key < $1.key }.map { "\(PageKey.shortName($0.key))=\($0.value.plain)" }
      .joined(separator: " ")
  }

  /// The keys, with `r`, `w` or `rw`, and the commands.
  static func shape(_ element: PageElement) -> String {
    let shape = PageShape(element)
    let access: [PageShape.Access: String] = [.readOnly: "r", .readWrite: "rw", .writeOnly: "w"]
    let keys = shape.values.map { "\(PageKey.shortName($0.key)):\(access[$0.value] ?? "")" }
    return (keys.sorted() + shape.commands.map(PageKey.shortName).sorted()).filter { !$0.hasPrefix("Element.") }
      .joined(separator: " ")
  }

  @Test(arguments: [
    // (what is told, the values, the keys and commands)
    (#"{"role":"button","name":"Go"}"#, "Element.Name=Go Element.Role=button", ""),
    (#"{"role":"a lie"}"#, "Element.Role=generic", ""),
    (
      #"{"role":"textbox","text":{"kind":"text","access":"rw","content":"a😀é","start":1,"end":2,"caret":1}}"#,
      "Element.Role=textbox Text.Caret=1 Text.Content=a😀é Text.Length=3 Text.SelectedText=😀 Text.Selection=1,2",
      "Text.Caret:rw Text.Content:rw Text.Length:r Text.SelectedText:rw Text.Selection:rw Text.Insert"
    ),
    (
      #"{"role":"textbox","text":{"kind":"text","access":"r","content":"e\u0301","start":2,"end":2,"caret":2}}"#,
      "Element.Role=textbox Text.Caret=2 Text.Content=e\u{301} Text.Length=2 Text.SelectedText= Text.Selection=2,2",
      "Text.Caret:rw Text.Content:r Text.Length:r Text.SelectedText:r Text.Selection:rw"
    ),
    (
      #"{"role":"textbox","text":{"kind":"text","access":"rw","content":"x@y"}}"#,
      "Element.Role=textbox Text.Content=x@y Text.Length=3", "Text.Content:rw Text.Length:r Text.Insert"
    ),
    // Too long for a value, and told without it.
    (
      #"{"role":"textbox","text":{"kind":"text","access":"rw","length":70000,"start":5,"end":9,"selected":"abcd"}}"#,
      "Element.Role=textbox Text.Caret=9 Text.Length=70000 Text.SelectedText=abcd Text.Selection=5,9",
      "Text.Caret:rw Text.Content:rw Text.Length:r Text.SelectedText:rw Text.Selection:rw Text.Insert"
    ),
    // Lies about positions.
    (
      #"{"role":"textbox","text":{"kind":"text","access":"rw","content":"ab","start":1,"end":3}}"#,
      "Element.Role=textbox Text.Content=ab Text.Length=2", "Text.Content:rw Text.Length:r Text.Insert"
    ),
    (
      #"{"role":"textbox","text":{"kind":"text","access":"rw","content":"ab","start":-1,"end":2}}"#,
      "Element.Role=textbox Text.Content=ab Text.Length=2", "Text.Content:rw Text.Length:r Text.Insert"
    ),
    (
      #"{"role":"textbox","text":{"kind":"text","access":"rw","content":"a\u0000b"}}"#, "Element.Role=textbox", ""
    ),
    (#"{"role":"textbox","text":{"kind":"text","content":"ab"}}"#, "Element.Role=textbox", ""),
    (#"{"role":"textbox","text":"ab"}"#, "Element.Role=textbox", ""),
    // A secret shows nothing, whatever is told of it.
    (
      #"{"role":"textbox","text":{"kind":"secret","access":"rw","content":"hunter2","length":7},"range":{"value":7}}"#,
      "Element.Role=password", "Text.Content:w"
    ),
    (#"{"role":"textbox","text":{"kind":"secret","access":"r"}}"#, "Element.Role=password", ""),
    (#"{"role":"textbox","text":{"kind":"editor"}}"#, "Element.Role=textbox", "Text.SelectedText:w Text.Insert"),
    (
      #"{"role":"slider","range":{"access":"rw","value":5,"minimum":0,"maximum":10.5,"step":0.5}}"#,
      "Element.Role=slider Range.Maximum=10.5 Range.Minimum=0.0 Range.Step=0.5 Range.Value=5.0",
      "Range.Maximum:r Range.Minimum:r Range.Step:r Range.Value:rw Range.Decrement Range.Increment"
    ),
    (
      #"{"role":"progressbar","range":{"access":"r","minimum":0,"maximum":1,"step":-1}}"#,
      "Element.Role=progressbar Range.Maximum=1.0 Range.Minimum=0.0 Range.Step=0.0",
      "Range.Maximum:r Range.Minimum:r Range.Step:r Range.Value:r"
    ),
    (#"{"role":"slider","range":{"access":"rw","value":5,"minimum":"0","maximum":1}}"#, "Element.Role=slider", ""),
    (
      #"{"role":"checkbox","checked":true,"checkable":"rw"}"#, "Element.Role=checkbox Toggle.Checked=true",
      "Toggle.Checked:rw"
    ),
    (#"{"role":"checkbox","checked":1,"checkable":"rw"}"#, "Element.Role=checkbox", ""),
  ])
  func elementsShowWhatTheVocabularyHas(told: String, values: String, keys: String) throws {
    let element = try #require(try Self.element(told))
    #expect(Self.shown(element) == values, "\(told)")
    #expect(Self.shape(element) == keys, "\(told)")
    for (key, value) in element.values { #expect(Vocabulary.type(of: key) == value.type, "\(key)") }
  }

  @Test func textsAreShownUpToTheirLimit() throws {
    let longest = String(repeating: "ä", count: PageElement.contentLimit / 2)
    for (text, isShown) in [(longest, true), (longest + "a", false)] {
      let told = #"{"role":"textbox","text":{"kind":"text","access":"rw","content":"\#(text)","length":9}}"#
      let element = try #require(try Self.element(told))
      #expect((element.values[ElementKey.content] != nil) == isShown)
    }
    let name = String(repeating: "n", count: PageElement.nameLimit + 1)
    #expect(try Self.element(#"{"role":"button","name":"\#(name)"}"#)?.name == "")
  }

  @Test(arguments: [
    // (a message, whether it is one)
    (#"{"type":"tab","tab":1,"title":"t","url":"u","shared":true}"#, true), (#"{"type":"tab"}"#, false),
    (#"{"type":"tab","tab":-1}"#, false), (#"{"type":"tab","tab":"1"}"#, false), (#"{"type":"front"}"#, true),
    (#"{"type":"front","tab":1}"#, true), (#"{"type":"front","tab":"x"}"#, false),
    (#"{"type":"closed","tab":1}"#, true),
    (#"{"type":"closed"}"#, false), (#"{"type":"gone","document":1}"#, true), (#"{"type":"gone"}"#, false),
    (#"{"type":"blur","tab":1}"#, true), (#"{"type":"blur"}"#, false),
    (#"{"type":"focus","tab":1,"document":1,"element":1,"state":{"role":"button"}}"#, true),
    (#"{"type":"focus","tab":1,"document":1,"element":1,"state":{}}"#, false),
    (#"{"type":"focus","tab":1,"document":1,"element":1}"#, false),
    (#"{"type":"focus","tab":1,"document":1,"state":{"role":"button"}}"#, false),
    (#"{"type":"state","document":1,"element":1,"state":{"role":"button"}}"#, true),
    (#"{"type":"state","document":1,"element":1,"state":[]}"#, false), (#"{"type":"reply","call":1}"#, true),
    (#"{"type":"reply","call":1.5}"#, false), (#"{"type":"reply","call":99999999999999999999}"#, false),
    (#"{"type":"other"}"#, false), (#"{"type":5}"#, false), ("[]", false), ("null", false), ("\"front\"", false),
  ])
  func messagesAreRead(text: String, isMessage: Bool) {
    #expect((JSON(Array(text.utf8)).flatMap { BrowserMessage($0) } != nil) == isMessage, "\(text)")
  }

  @Test func requestsAreMessages() throws {
    let element = BrowserRequest.Target.element(ElementID(3, 4))
    // (a request, its message)
    let cases: [(BrowserRequest, String?)] = [
      (
        BrowserRequest(element, .write(ElementKey.content, .string("a\nb"))),
        #"{"call":7,"document":3,"element":4,"key":"Text.Content","type":"write","value":"a\nb"}"#
      ),
      (
        BrowserRequest(element, .write(ElementKey.selection, .structure([.int32(1), .int32(2)]))),
        #"{"call":7,"document":3,"element":4,"key":"Text.Selection","type":"write","value":[1,2]}"#
      ),
      (
        BrowserRequest(element, .write(ElementKey.value, .double(0.5))),
        #"{"call":7,"document":3,"element":4,"key":"Range.Value","type":"write","value":0.5}"#
      ),
      (
        BrowserRequest(element, .write(ElementKey.checked, .boolean(true))),
        #"{"call":7,"document":3,"element":4,"key":"Toggle.Checked","type":"write","value":true}"#
      ),
      (
        BrowserRequest(element, .run(ElementKey.insert, [.string("x")])),
        #"{"arguments":["x"],"call":7,"document":3,"element":4,"key":"Text.Insert","type":"run"}"#
      ),
      (BrowserRequest(.tab(9), .focus), #"{"call":7,"tab":9,"type":"focus"}"#),
      (BrowserRequest(element, .write(ElementKey.value, .double(.nan))), nil),
    ]
    for (request, message) in cases {
      #expect(request.message(call: 7).map { String(decoding: $0, as: UTF8.self) } == message)
    }
  }
}

extension DBusValue {
  /// The value as the tables write it.
  fileprivate var plain: String {
    if case .structure(let members) = self { return members.map(\.plain).joined(separator: ",") }
    return basicText ?? "\(self)"
  }
}
