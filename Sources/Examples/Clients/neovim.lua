-- The current buffer of Neovim as a field of focusd: `dofile("/path/to/neovim.lua")` in init.lua.
--
-- While Neovim has focus, `focusctl get Document.Path` prints its file, `focusctl set Text.SelectedText hello` replaces the
-- selection or inserts at the cursor, `focusctl run Document.Save` saves, and `focusctl run Edit.Undo` undoes. A blockwise
-- selection counts as none. In tmux: set -g focus-events on.
local path, selected = "org.focusd.Document.Path", "org.focusd.Text.SelectedText"
local codes = { ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }
local characters = { ["\\\\"] = "\\", ["\\n"] = "\n", ["\\t"] = "\t" }
local told, rest = {}, ""
local group = vim.api.nvim_create_augroup("focusd", {})
local job, started, is_in_front = nil, 0, false
local marks = vim.api.nvim_create_namespace("focusd")
-- The end of what was inserted last, in normal mode, and where the cursor was put then.
local inserted

local function send(line)
  if job then
    -- It may have ended a moment ago.
    pcall(vim.fn.chansend, job, line .. "\n")
  end
end

-- The first and the last position of the selection, or nil. The last line break of whole lines does not belong to it.
local function selection()
  local mode = vim.fn.mode()
  if not mode:find("^[vVsS]$") then
    return nil
  end
  local first, last = vim.fn.getpos("v"), vim.fn.getpos(".")
  if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
    first, last = last, first
  end
  local line = vim.fn.getline(last[2])
  if mode == "V" or mode == "S" then
    return first[2] - 1, 0, last[2] - 1, #line
  end
  local behind = last[3] - 1
  if vim.o.selection ~= "exclusive" then
    -- It ends behind the last character, of whatever length.
    behind = behind + #vim.fn.matchstr(line:sub(last[3]), "^.")
  end
  return first[2] - 1, first[3] - 1, last[2] - 1, math.min(behind, #line)
end

local function update()
  local text = ""
  if selection() then
    local row, column, last_row, last_column = selection()
    text = table.concat(vim.api.nvim_buf_get_text(0, row, column, last_row, last_column, {}), "\n")
  end
  local file = vim.bo.buftype == "" and vim.api.nvim_buf_get_name(0) or ""
  for key, value in pairs({ [path] = file, [selected] = text }) do
    if told[key] ~= value then
      told[key] = value
      send(key .. " " .. value:gsub("[\\\n\t]", codes))
    end
  end
end

-- Where to insert. In normal mode the cursor cannot be behind the last character of a line, so what was inserted there goes
-- on where it ended, while the cursor has not been moved.
local function caret()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local buffer = vim.api.nvim_get_current_buf()
  if vim.fn.mode() == "n" and inserted and inserted.buffer == buffer and vim.deep_equal(cursor, inserted.cursor) then
    local position = vim.api.nvim_buf_get_extmark_by_id(inserted.buffer, marks, inserted.mark, {})
    if position[1] == cursor[1] - 1 then
      return position[1], position[2]
    end
  end
  return cursor[1] - 1, cursor[2]
end

-- What comes next is a step of its own to undo, and so are characters that are typed next.
local function break_undo()
  vim.go.undolevels = vim.go.undolevels
  if vim.fn.mode() == "i" then
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<C-g>u", true, false, true), "in", false)
  end
end

-- Replaces the selection, or inserts at the cursor, which is behind the text then. It is one step to undo.
local function replace(text)
  local lines = vim.split(text, "\n", { plain = true })
  local row, column, last_row, last_column = selection()
  if row then
    vim.cmd("normal! \27")
  else
    row, column = caret()
    last_row, last_column = row, column
  end
  break_undo()
  vim.api.nvim_buf_set_text(0, row, column, last_row, last_column, lines)
  break_undo()
  local last, behind = row + #lines, (#lines == 1 and column or 0) + #lines[#lines]
  vim.api.nvim_win_set_cursor(0, { last, behind })
  vim.api.nvim_buf_clear_namespace(0, marks, 0, -1)
  inserted = {
    buffer = vim.api.nvim_get_current_buf(),
    mark = vim.api.nvim_buf_set_extmark(0, marks, last - 1, behind, {}),
    cursor = vim.api.nvim_win_get_cursor(0),
  }
end

local function obey(line)
  local word, arguments = line:match("^(%S+) ?(.*)$")
  if word == selected then
    told[selected] = arguments:gsub("\\[\\nt]", characters)
    if vim.fn.mode():find("^[ct]") then
      -- Typing goes to the command line or to the terminal's program.
      vim.api.nvim_paste(told[selected], false, -1)
    else
      replace(told[selected])
    end
  elseif line:match("^run org.focusd.Document.Save") then
    vim.cmd("write")
  elseif line:match("^run org.focusd.Edit.Undo") then
    vim.cmd("undo")
  end
end

-- Starts `focusctl hold`, unless it runs. Without a bus it ends at once, so no more often than once a minute.
local function start()
  if job or os.time() - started < 60 then
    return
  end
  started, told, rest = os.time(), {}, ""
  local command = {
    "focusctl", "hold", "--label", "Neovim", "org.focusd.Element.Role=textbox", path .. "=", selected .. "=",
    "--read-only", "org.focusd.Element.Role", "--read-only", path,
    "--command", "org.focusd.Document.Save", "--command", "org.focusd.Edit.Undo",
  }
  -- tmux's panes are no children of the terminal that shows them: the client is, and names the window.
  if vim.env.TMUX and vim.fn.executable("tmux") == 1 then
    local client = vim.fn.system({ "tmux", "display-message", "-p", "#{client_pid}" }):match("^%d+")
    vim.list_extend(command, client and { "--process", client } or {})
  end
  job = vim.fn.jobstart(command, {
    on_stdout = function(_, lines)
      lines[1] = rest .. lines[1]
      rest = table.remove(lines)
      for _, line in ipairs(lines) do
        local succeeded, problem = pcall(obey, line)
        -- What a read-only buffer refuses is told, too.
        update()
        if not succeeded then
          vim.notify("focusd: " .. problem:gsub("^.-:%d+: ", ""), vim.log.levels.WARN)
        end
      end
    end,
    on_exit = function() job = nil end,
  })
  update()
  send(is_in_front and "focus" or "blur")
end

local function focus(now)
  is_in_front = now
  send(now and "focus" or "blur")
end

local function on(events, callback)
  vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
end
start()
-- No event tells of a selection whose start alone has moved, as of `viw` at the end of a word.
vim.on_key(function()
  if vim.fn.mode():find("^[vVsS]$") then vim.schedule(update) end
end, marks)
-- If the session has ended, the user may be back in the next one. Here it is no error if focusd has been removed.
on({ "BufEnter", "FocusGained" }, function() pcall(start) end)
on({ "BufEnter", "BufFilePost", "CursorMoved", "ModeChanged", "TextChanged", "TextChangedI" }, update)
on({ "VimEnter", "FocusGained", "VimResume" }, function() focus(true) end)
on({ "FocusLost", "VimSuspend" }, function() focus(false) end)
