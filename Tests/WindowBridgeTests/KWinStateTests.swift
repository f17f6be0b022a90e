import BridgeJSON
import Testing
import WindowBridge

/// What the script in KWin tells, without KWin.
@Suite struct KWinStateTests {
  private static func json(_ text: String) throws -> JSON { try #require(JSON(Array(text.utf8))) }

  @Test func windowsAndWhichIsInFront() throws {
    var state = KWinState()
    let (one, two) = (WindowID(uuid: "{1}"), WindowID(uuid: "{2}"))
    // KWin activates a window before it says that there is one.
    state.front("{1}")
    #expect(state.desktop == Desktop())
    let text = """
      {"id":"{1}","title":"one","pid":42,"workspace":"Desktop 1","application":"org.test.one","minimized":true,\
      "close":true,"minimize":true,"fullscreen":false,"kind":""}
      """
    #expect(state.window(try Self.json(text)))
    let window = Window(
      title: "one", application: "org.test.one", process: 42, workspace: "Desktop 1", actions: [.close, .minimize])
    #expect(state.desktop == Desktop(windows: [one: window], front: one))
    #expect(state.isMinimized(one) && state.uuid(one) == "{1}")
    for (kind, expected) in [("panel", Window.Kind.panel), ("backdrop", .backdrop), ("what", .ordinary)] {
      #expect(state.window(try Self.json(#"{"id":"{2}","kind":"\#(kind)","pid":-1,"fullscreen":true}"#)))
      #expect(state.desktop.windows[two] == Window(kind: expected, actions: [.fullscreen]))
    }
    // What it could do once stays.
    #expect(state.window(try Self.json(#"{"id":"{2}","fullscreen":false,"close":1}"#)))
    #expect(state.desktop.windows[two]?.actions == [.fullscreen])
    for nobody in ["", "{9}"] {
      state.front("{2}")
      #expect(state.desktop.front == two)
      state.front(nobody)
      #expect(state.desktop.front == nil)
    }
    state.front("{1}")
    state.gone("{1}")
    state.gone("{1}")
    #expect(state.desktop.front == nil && state.desktop.windows.count == 1 && state.uuid(one) == nil)
  }

  @Test func whatItMustNotTellIsNothing() throws {
    var state = KWinState()
    for text in ["[]", "{}", #"{"id":7}"#, #"{"id":""}"#, #"{"title":"x"}"#] {
      #expect(state.window(try Self.json(text)))
    }
    #expect(state.desktop == Desktop())
    for number in 0..<WaylandWindows.most { #expect(state.window(try Self.json(#"{"id":"\#(number)"}"#))) }
    #expect(!state.window(try Self.json(#"{"id":"one more"}"#)))
    #expect(state.window(try Self.json(#"{"id":"7","title":"\#(String(repeating: "é", count: 9000))"}"#)))
    #expect(state.desktop.windows.count == WaylandWindows.most)
    #expect(state.desktop.windows[WindowID(uuid: "7")]?.title.utf8.count == WindowText.titleLength)
  }
}
