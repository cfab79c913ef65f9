/*
 * What CoreNLP's grammar knows of words: the score of every word with every tag, from the reference parser's lexicon.
 *
 *   java -cp 'lib/*' tools/WordScores.java words.txt scores.tsv.gz
 *
 * lib/ has CoreNLP 3.6.0, its models and slf4j. The grammar is not lexicalised: it sees a word only through these
 * scores, so words with equal scores are one word to it.
 * Written are the tags, then for each distinct list of scores a line "class", and for each word a line "word" with whether
 * the lexicon has it and its class. words.txt (python -m captious.training.parser.word_scores) has words to ask for besides the
 * lexicon's own: invented ones for the classes of unknown words, and any that may be British spellings of known ones. For training only; captious itself runs no Java.
 */

import edu.stanford.nlp.parser.lexparser.IntTaggedWord;
import edu.stanford.nlp.parser.lexparser.LexicalizedParser;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;

public class WordScores {
    private static final String GRAMMAR = "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz";
    private static final int INSIDE = 1; // a position that is not the beginning of the sentence

    public static void main(String[] arguments) throws Exception {
        LexicalizedParser parser = LexicalizedParser.loadModel(GRAMMAR);
        Set<String> words = new LinkedHashSet<>();
        for (String word : parser.wordIndex) {
            if (parser.lex.isKnown(word)) words.add(word);
        }
        words.addAll(Files.readAllLines(Path.of(arguments[0])));
        try (PrintStream out = new PrintStream(new GZIPOutputStream(new FileOutputStream(arguments[1])), false, "UTF-8")) {
            StringBuilder tags = new StringBuilder("tags");
            for (String tag : parser.tagIndex) tags.append('\t').append(tag);
            out.println(tags);
            Map<String, Integer> classes = new HashMap<>();
            for (String asked : words) {
                // Before it looks, the parser changes British spellings to American ones.
                String word = parser.getOp().wordFunction == null ? asked : parser.getOp().wordFunction.apply(asked);
                StringBuilder scores = new StringBuilder();
                for (Iterator<IntTaggedWord> taggings = parser.lex.ruleIteratorByWord(word, INSIDE, null); taggings.hasNext(); ) {
                    IntTaggedWord tagging = taggings.next();
                    float score = parser.lex.score(tagging, INSIDE, word, null);
                    if (score > Float.NEGATIVE_INFINITY) scores.append('\t').append(tagging.tag).append(':').append(score);
                }
                Integer number = classes.get(scores.toString());
                if (number == null) {
                    number = classes.size();
                    classes.put(scores.toString(), number);
                    out.println("class" + scores);
                }
                out.println("word\t" + asked + '\t' + (parser.lex.isKnown(word) ? 1 : 0) + '\t' + number);
            }
        }
    }
}
